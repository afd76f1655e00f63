File folder = basedir.canonicalFile
String log = new File(folder, 'build.log').text
assert log.contains('there are no stored counts, ' + new File(folder, 'cctrewrite-bench.json'))
String failure = 'FAILED: com.acme.Work.run grew from 912 to 1,002 bytecodes (+9.87 %), limit 0 %; ' +
    'com.acme.Loop.sum(I)I most, +90'
// In the output of the command, and as the reason why the build failed.
assert log.count(failure) == 2
assert log =~ /\[ERROR\] Failed to execute goal .*:check .*FAILED: com\.acme\.Work\.run grew/
assert log.contains('[ERROR] If this is intended, store the new counts by')
assert log.contains('skipped by cctrewrite.skip')
assert log.contains('skipped by maven.test.skip')
true
