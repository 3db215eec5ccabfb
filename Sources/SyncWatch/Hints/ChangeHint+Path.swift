import SyncCore
import SystemPackage

extension ChangeHint {
    var path: FilePath {
        switch self {
        case .file(let path), .writing(let path), .tree(let path), .gone(let path): path
        }
    }
}
