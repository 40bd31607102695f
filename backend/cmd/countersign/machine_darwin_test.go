package main

import "os"

func machine() { os.Exit(complain("machine: only Linux can make one")) }
