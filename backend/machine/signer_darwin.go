package machine

// codesign is the program that checks certificates, by the place that only
// the system writes to.
const codesign = "/usr/bin/codesign"
