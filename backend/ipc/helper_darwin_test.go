package ipc

const subreapers = false

func becomeSubreaper() {}
