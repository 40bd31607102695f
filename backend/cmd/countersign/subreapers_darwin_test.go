package main

// subreapers tells that a daemon of a command stays below the host.
const subreapers = false
