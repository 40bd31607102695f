// Secrets in the data protection Keychain, in an access group of our own
// programs. Both return an OSStatus.
#include <stddef.h>

// CSSecretGet puts the secret into value, which must be freed.
int CSSecretGet(const char *group, const char *service, const char *account, void **value, size_t *size);

// CSSecretSet adds the secret, or replaces it.
int CSSecretSet(const char *group, const char *service, const char *account, const void *value, size_t size);
