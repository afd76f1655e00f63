File folder = basedir.canonicalFile
String log = new File(folder, 'build.log').text
assert log.contains('run `mvn cctrewrite:test` first')
assert log =~ /1 +909 +0\.\d+ +909 +0\.\d+ +com\.acme\.Loop\.sum\(int\)/
assert log.contains('(library)')
String page = new File(folder, 'target/cctrewrite/tests.html').text
assert page.contains('profile - cctrewrite</title>')
// The second page also has JUnit's methods.
assert new File(folder, 'target/all.html').length() > page.length()
true
