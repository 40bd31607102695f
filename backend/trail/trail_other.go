//go:build !linux && !darwin

package trail

func look(string) (step, error) { return step{}, errWay }

func target(string) (string, error) { return "", errWay }
