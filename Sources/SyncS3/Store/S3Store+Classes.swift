package import SyncCore

/// In which class new objects are.
extension S3Store {
    /// Of new photos, by the configuration.
    package var configuredClass: StorageClass { client.settings.storageClass }

    /// Where the server was seen to put new photos, in place of ``configuredClass``; `nil` as long as it was not.
    package var ignoredClass: (wanted: StorageClass, seen: StorageClass)? {
        guard let seen = client.knowledge.capabilities.putClasses[configuredClass], seen != configuredClass else {
            return nil
        }
        return (configuredClass, seen)
    }

    /// Where something is that was put into a class. What a store refuses is learned with the put; some take the header and
    /// leave it at their only class: the first object in the configured class is looked at. Amazon's word counts.
    /// - Parameter key: of what was put.
    func storedClass(
        _ wanted: StorageClass, at key: ObjectKey, _ context: S3RequestContext
    ) async -> StorageClass {
        let knowledge = client.knowledge
        guard wanted == configuredClass else {
            return knowledge.capabilities.refusedClasses.contains(wanted) ? .standard : wanted
        }
        guard wanted != .standard, !knowledge.address.isAmazon else { return wanted }
        if let seen = knowledge.capabilities.putClasses[wanted] { return seen }
        // It is stored, whatever becomes of this question.
        guard let reply = try? await headReply(key, context), let info = try? info(reply, key, context) else {
            return wanted
        }
        let seen = info.storageClass
        await client.learn { $0.capabilities.putClasses[wanted] = seen }
        if seen != wanted {
            client.warn(
                "\(context.address.endpoint) stores new photos in \(seen), and takes no notice of store.storage_class: "
                    + "\(wanted); take the setting out, or name a class that the server has")
        }
        return seen
    }
}
