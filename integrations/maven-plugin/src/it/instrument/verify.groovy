File folder = basedir.canonicalFile
String log = new File(folder, 'build.log').text
File output = new File(folder, 'target/profiled/it-instrument-1.jar')
assert output.isFile()
assert log.count(output.name + ': 1 class, ') == 1
assert log.count(output.name + ': up to date') == 1
assert log.contains('the project has no jar yet: run `mvn package`, or bind the goal in the POM')

File profile = new File(folder, 'target/run.cct')
String home = System.getProperty('java.home').replaceFirst('/jre$', '')
def run = [command, 'run', '-q', '-o', profile.path, '--jdk', home, '--',
    'java', '-jar', output.path].execute()
assert run.text.trim() == '4950'
assert run.waitFor() == 0
String report = [command, 'report', '--format', 'csv', '--by', 'class', profile.path].execute().text
assert report.readLines().any { it.endsWith(',com.acme.Loop') } : report
true
