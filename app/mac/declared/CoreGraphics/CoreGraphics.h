#pragma once
#include <Foundation/Foundation.h>

CFDictionaryRef CGSessionCopyCurrentDictionary(void) SINCE(10.3) __attribute__((cf_returns_retained));
