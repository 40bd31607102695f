//go:build !darwin

package setup

// watchesEntries tells that who watches a folder opens what is in it.
const watchesEntries = false
