File folder = basedir.canonicalFile
String log = new File(folder, 'build.log').text
assert log.contains('Tests run: 2, Failures: 0, Errors: 0, Skipped: 1')
assert log.contains('Tests run: 2, Failures: 0, Errors: 0, Skipped: 0')
assert log.contains('profile of the tests: ' + new File(folder, 'target/cctrewrite/tests.cct'))

def process = [command, 'report', '--format', 'csv', '--by', 'class', '--only', 'com.acme.**',
    new File(folder, 'target/cctrewrite/tests.cct').path].execute()
String report = process.text
assert process.waitFor() == 0
// Two calls: 100 and 10 rounds.
assert report.readLines().any {
    it.startsWith('2,' + (909 + 99)) && it.endsWith(',com.acme.Loop')
} : report
true
