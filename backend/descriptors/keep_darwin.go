package descriptors

func keep() error { return keepEach() }
