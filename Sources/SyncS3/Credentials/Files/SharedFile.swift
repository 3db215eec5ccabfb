import FoundationEssentials
import SyncCore

/// Reads the shared files of the AWS tools: small, local, and read when a store is made or its keys were refused.
enum SharedFile {
    /// `nil` when there is no such file.
    /// - Throws: `StoreError` `.credentialsMissing` when it cannot be read.
    @Sendable static func read(_ path: String) throws(StoreError) -> String? {
        do {
            return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw StoreError(
                .credentialsMissing, operation: "read", message: "\(path) cannot be read: permission denied")
        } catch {
            throw StoreError(.credentialsMissing, operation: "read", message: "\(path) cannot be read: \(error)")
        }
    }
}
