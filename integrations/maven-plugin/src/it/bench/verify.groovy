File folder = basedir.canonicalFile
String log = new File(folder, 'build.log').text
assert log.contains(
    'store them by `mvn cctrewrite:bench -Dcctrewrite.update=true`, and commit the file')
assert log.contains('2 entries stored in ' + new File(folder, 'cctrewrite-bench.json'))
// bipush, invokestatic, ireturn, and 9 n + 9.
assert log =~ /912 +0 +2 +0 +com\.acme\.Work\.run/
assert log =~ /72 +0 +1 +0 +com\.acme\.Loop\.sum\(7\)/
assert log.contains('[WARNING] FAILED: com.acme.Work.run grew from 912 to 1,002 bytecodes')
assert log.contains('com.acme.Loop.sum(I)I most, +90')
assert log.contains('the benchmarks cannot be counted:')
assert log.contains('com.acme.Work.missing')
true
