// CSAuthenticate asks the person by an LAPolicy. It waits for them and returns
// 1 for a yes, or else the code of an LAError, which is negative. It must not be called on the main thread.
int CSAuthenticate(int policy, const char *reason);
