// Imports files with speedscope's own importer, and prints what it made of them as JSON: for each file its profiles, each with its name, its total
// weight and, for each frame, the weights of itself and with its callees.
//
// The npm package has the importer inside the program for browsers. It is run up to the point where that would draw its page, and the module
// of the importer is taken from it.
//
//     node speedscope.js FOLDER_OF_THE_PACKAGE FILE...
'use strict'
const fs = require('fs')
const path = require('path')
const vm = require('vm')

const [folder, ...files] = process.argv.slice(2)
const release = path.join(folder, 'dist/release')
const script = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name))
const program = fs.readFileSync(path.join(release, script), 'utf8')

// `var X={};expose(X,{importFromFileSystemDirectoryEntry:...` names the module, `(start(),X)` what runs it before its first use.
const module_ = /var ([\w$]+)=\{\};[\w$]+\(\1,\{importFromFileSystemDirectoryEntry/.exec(program)
const start = module_ && new RegExp(`\\(([\\w$]+)\\(\\),${module_[1].replace(/\$/g, '\\$')}\\)`).exec(program)
const page = program.indexOf('console.log(`speedscope v')
if (!start || page < 0) throw new Error(`the importer is not where it was in ${script}`)
const importer = `${program.slice(0, page)};globalThis.importer=(${start[1]}(),${module_[1]});})();`

const element = () => new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : element()),
  apply: () => element(),
  construct: () => element(),
})
globalThis.window = globalThis
globalThis.self = globalThis
globalThis.document = element()
globalThis.location = { hash: '', protocol: 'file:', href: '' }
globalThis.matchMedia = () => element()
console.log = () => {}
vm.runInThisContext(importer, { filename: script })

async function imported(file) {
  const bytes = fs.readFileSync(file)
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const group = await globalThis.importer.importProfilesFromArrayBuffer(path.basename(file), buffer)
  if (!group) throw new Error(`${file} is of no format that speedscope knows`)
  return group.profiles.map(profile => {
    const frames = []
    profile.forEachFrame(frame =>
      frames.push({ name: frame.name, own: frame.getSelfWeight(), inclusive: frame.getTotalWeight() }))
    return { name: profile.getName(), total: profile.getTotalNonIdleWeight(), frames }
  })
}

Promise.all(files.map(imported)).then(
  profiles => process.stdout.write(JSON.stringify(profiles)),
  error => { console.error(error); process.exitCode = 1 })
