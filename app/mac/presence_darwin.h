// CSAuthenticate asks the person by an LAPolicy. It waits for them and returns
// 0, or the code of an LAError. It must not be called on the main thread.
int CSAuthenticate(int policy, const char *reason);
