/** Goes with Everything.java. */
@Deprecated
open module everything {
    requires transitive java.logging;
    requires static java.desktop;
    exports everything to java.logging, java.desktop;
    uses java.util.concurrent.Callable;
    provides java.util.concurrent.Callable with everything.Everything;
}
