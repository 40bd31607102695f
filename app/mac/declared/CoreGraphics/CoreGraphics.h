#pragma once
#include <Foundation/Foundation.h>

CFDictionaryRef CGSessionCopyCurrentDictionary(void) __attribute__((cf_returns_retained));
