#pragma once
#include <Foundation/Foundation.h>

extern const CFStringRef kSecClass, kSecClassGenericPassword, kSecUseDataProtectionKeychain, kSecAttrAccessGroup, kSecAttrService, kSecAttrAccount;
extern const CFStringRef kSecReturnData, kSecValueData, kSecAttrAccessible, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly;
enum { errSecSuccess = 0, errSecAllocate = -108, errSecItemNotFound = -25300 };

OSStatus SecItemCopyMatching(CFDictionaryRef query, CFTypeRef *result);
OSStatus SecItemUpdate(CFDictionaryRef query, CFDictionaryRef attributes);
OSStatus SecItemAdd(CFDictionaryRef attributes, CFTypeRef *result);
