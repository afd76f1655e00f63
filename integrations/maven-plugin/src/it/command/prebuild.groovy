// The artifact of an earlier run.
new File(localRepositoryPath, 'dev/cctrewrite/cctrewrite-cli').deleteDir()
// A command of another version, and no command.
File other = new File(basedir, 'other')
other.text = '#!/bin/sh\necho cctrewrite 99.1.2\n'
assert other.setExecutable(true)
File none = new File(basedir, 'none')
none.text = '#!/bin/sh\necho hello\n'
assert none.setExecutable(true)
true
