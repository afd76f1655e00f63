File folder = basedir.canonicalFile
String log = new File(folder, 'build.log').text
String failure = 'com.acme.LoopIT.sums executed 913 bytecodes of com.acme.**, ' +
    '13 more than its budget of 900. Most:'
// Twice in each build: when it fails, and in the summary.
assert log.count(failure) == 4
assert log.contains('com.acme.Loop.sum(I)I')
assert log.count('Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n') == 2
assert log.contains('-Djvm is on the command line; remove it, and name the JDK by')
// One of Surefire's JVM, one of Failsafe's.
assert new File(folder, 'target/cctrewrite/jvms').list().count { it.endsWith('.cct') } == 2
true
