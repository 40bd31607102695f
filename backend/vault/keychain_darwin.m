#import <Foundation/Foundation.h>
#import <Security/Security.h>
#include <stdlib.h>
#include <string.h>

#include "keychain_darwin.h"

static NSMutableDictionary *item(const char *group, const char *service, const char *account) {
	NSMutableDictionary *query = [NSMutableDictionary new];
	query[(__bridge id)kSecClass] = (__bridge id)kSecClassGenericPassword;
	query[(__bridge id)kSecUseDataProtectionKeychain] = @YES;
	query[(__bridge id)kSecAttrAccessGroup] = @(group);
	query[(__bridge id)kSecAttrService] = @(service);
	query[(__bridge id)kSecAttrAccount] = @(account);
	return query;
}

int CSSecretGet(const char *group, const char *service, const char *account, void **value, size_t *size) {
	@autoreleasepool {
		CFTypeRef found = NULL;
		NSMutableDictionary *query = item(group, service, account);
		query[(__bridge id)kSecReturnData] = @YES;
		OSStatus status = SecItemCopyMatching((__bridge CFDictionaryRef)query, &found);
		if (status != errSecSuccess)
			return status;
		NSData *data = (__bridge_transfer NSData *)found;
		*size = data.length;
		*value = malloc(data.length + 1);
		if (*value == NULL)
			return errSecAllocate;
		memcpy(*value, data.bytes, data.length);
		return errSecSuccess;
	}
}

int CSSecretSet(const char *group, const char *service, const char *account, const void *value, size_t size) {
	@autoreleasepool {
		NSData *data = [NSData dataWithBytes:value length:size];
		NSMutableDictionary *query = item(group, service, account);
		OSStatus status = SecItemUpdate((__bridge CFDictionaryRef)query, (__bridge CFDictionaryRef) @{(__bridge id)kSecValueData : data});
		if (status != errSecItemNotFound)
			return status;
		query[(__bridge id)kSecValueData] = data;
		query[(__bridge id)kSecAttrAccessible] = (__bridge id)kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly;
		return SecItemAdd((__bridge CFDictionaryRef)query, NULL);
	}
}
