String log = new File(basedir.canonicalFile, 'build.log').text
assert log.contains('run `mvn cctrewrite:test` first')
assert log =~ /1 +909 +0\.\d+ +909 +0\.\d+ +com\.acme\.Loop\.sum\(int\)/
assert log.contains('(library)')
String page = new File(basedir.canonicalFile, 'target/cctrewrite/tests.html').text
assert page.contains('profile - cctrewrite</title>')
// The second page also has JUnit's methods.
assert new File(basedir.canonicalFile, 'target/all.html').length() > page.length()
true
