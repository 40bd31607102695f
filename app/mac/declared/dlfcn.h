#pragma once
#include <stddef.h>
#define RTLD_DEFAULT ((void *)-2)
void *dlsym(void *handle, const char *name);
