package main

import "os"

func corpusMachine() { os.Exit(complain("machine: only Linux can make one")) }
