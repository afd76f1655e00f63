File folder = basedir.canonicalFile
String log = new File(folder, 'build.log').text
assert log.contains('found no cctrewrite: the parameter `command` (cctrewrite.command) is not set, '
    + 'no folder of the PATH has it, and ')
assert log.contains('cannot be resolved. Install cctrewrite, or name it by ' +
    '-Dcctrewrite.command=PATH.')
assert log.contains(new File(folder, 'other').path + ' is cctrewrite 99.1.2, but this is '
    + 'cctrewrite-maven-plugin ')
assert log.contains(new File(folder, 'none').path + ' is not cctrewrite: ' +
    '`--version` printed "hello"')
assert log.contains('pom.xml, which is no executable file')
assert log.contains('1 entry stored in ')
true
