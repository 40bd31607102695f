#pragma once
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t size);
