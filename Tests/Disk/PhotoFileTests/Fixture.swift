import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncPhotos

/// The files in `Tests/Disk/PhotoFixtures`; a script there makes them.
enum Fixture {
    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../PhotoFixtures")
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }

    static func reference(_ name: String) throws -> ReferencePicture {
        try ReferencePicture(try bytes(name))
    }
}

/// A folder with one photo in it, and the reducer at work on it.
struct Workbench {
    let tree = try? TemporaryTree(in: .memory)
    private let reducer: PhotoFileReducer

    init(pictures: PictureWorkers = .none) {
        reducer = PhotoFileReducer(pictures: pictures)
    }

    /// Examines and reduces bytes as the agent does.
    func copy(
        of bytes: [UInt8], named name: String = "photo.jpg", policy: ReducePolicy = ReducePolicy()
    ) throws -> StoredCopy {
        let path = try #require(tree).write(bytes, to: name)
        return try reducer.reduce(path, examined: try reducer.examine(path), policy: policy)
    }

    /// The picture encoded anew, also where the copy would be the file itself.
    func encoded(_ bytes: [UInt8], policy: ReducePolicy = ReducePolicy()) throws -> (bytes: [UInt8], size: [Int]) {
        try bytes.decoded(within: policy.limits) { (reader) throws(PhotoError) in
            let exif = reader.exif
            let plan = JPEGReduction(policy: policy, orientation: exif?.summary.orientation)
            let output = try reader.reduce(plan, exif: exif?.corrected(size: reader.reducedSize(plan)))
            return (output.bytes, [output.size.width, output.size.height])
        }
    }

    func examination(of bytes: [UInt8], named name: String) throws -> PhotoFacts {
        try reducer.examine(try #require(tree).write(bytes, to: name))
    }
}

extension StoredCopy {
    /// The bytes of a reduced copy.
    func reduced(sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        guard case .reduced(let bytes) = content else {
            Issue.record("stored unchanged, not reduced", sourceLocation: sourceLocation)
            throw BaselinePicture.Unreadable()
        }
        return bytes
    }
}

extension StoredCopy {
    /// The bytes of a copy that is the file with other bytes in some places.
    func patched(_ file: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        guard case .patched(let patches) = content else {
            Issue.record("not patched", sourceLocation: sourceLocation)
            throw BaselinePicture.Unreadable()
        }
        var bytes = file
        bytes.withUnsafeMutableBytes { patches.apply(to: $0, at: 0) }
        return bytes
    }
}

extension SharedSize: CustomTestStringConvertible {
    public var testDescription: String {
        switch self {
        case .full: "full"
        case .reduced(let policy): "\(policy.maximumDimension) px at \(policy.quality)"
        }
    }
}
