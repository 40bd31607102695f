#pragma once
#include <Foundation/Foundation.h>

extern const CFStringRef kSecClass SINCE(10.6), kSecAttrService SINCE(10.6), kSecAttrAccount SINCE(10.6), kSecReturnData SINCE(10.6), kSecValueData SINCE(10.6);
extern const CFStringRef kSecClassGenericPassword SINCE(10.7);
extern const CFStringRef kSecAttrAccessGroup SINCE(10.9), kSecAttrAccessible SINCE(10.9), kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly SINCE(10.9);
extern const CFStringRef kSecUseDataProtectionKeychain SINCE(10.15);
enum { errSecSuccess = 0, errSecAllocate = -108, errSecItemNotFound = -25300 };

OSStatus SecItemCopyMatching(CFDictionaryRef query, CFTypeRef *result) SINCE(10.6);
OSStatus SecItemUpdate(CFDictionaryRef query, CFDictionaryRef attributes) SINCE(10.6);
OSStatus SecItemAdd(CFDictionaryRef attributes, CFTypeRef *result) SINCE(10.6);
