// Written by scripts/make-signing-cases, with botocore.
import SyncS3

extension SigningCase {
    /// URLs that carry their signature.
    static let presigned: [SigningCase] = [
        SigningCase(
            .get, .amazon, "photos/a b+c~.jpg", as: .presigned(seconds: 1),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "94122679473f6fb99e2f1b964539de2a011647378d7750086f9161108fd90caf"),
        SigningCase(
            .get, .amazonPath, "photos/a b+c~.jpg", as: .presigned(seconds: 3600), hasToken: true,
            url: "https://s3.eu-central-1.amazonaws.com/my-bucket/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "26154ed8619b7b09c654b5762d04241d5986ce1127dea8822812fbea1b9188c8"),
        SigningCase(
            .get, .china, "photos/a b+c~.jpg", as: .presigned(seconds: 604800),
            url: "https://my-bucket.s3.cn-north-1.amazonaws.com.cn/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "f5df1ba5a45df77675458bd534b8415b2eb212dfa11951ab8ba36c7e881e2cfc"),
        SigningCase(
            .get, .dotted, "photos/a b+c~.jpg", as: .presigned(seconds: 1), hasToken: true,
            url: "https://s3.us-west-2.amazonaws.com/my.photo.bucket/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "cb5ca7747c663677600b78c3bc8d539c884d37780fa3e6a2750e71734f1ff7f7"),
        SigningCase(
            .get, .loopback, "photos/a b+c~.jpg", as: .presigned(seconds: 3600),
            url: "http://127.0.0.1:9000/my-bucket/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "a580dc35fe696cdde32f98f53a7c7462c5923bd2059f41569ce22f71f8fd60cc"),
        SigningCase(
            .get, .named, "photos/a b+c~.jpg", as: .presigned(seconds: 604800), hasToken: true,
            url: "http://my-bucket.s3.example.org:8080/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "06898bceaa1eb8bbc5c22e2e53ba7a9409b999334a2fb7f3cb8b06ed2e650482"),
        SigningCase(
            .get, .plainPort, "photos/a b+c~.jpg", as: .presigned(seconds: 1),
            url: "http://s3.example.org/my-bucket/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "9a68ebadefc3906f03251040951193e63e2ef106c19834e6ac73d9a87067aa12"),
        SigningCase(
            .get, .securePort, "photos/a b+c~.jpg", as: .presigned(seconds: 3600), hasToken: true,
            url: "https://s3.example.org/my-bucket/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "0a5261e04c6860bd97ceb34f33acdd48791309525dd41d99f5e406bf641d2bf5"),
        SigningCase(
            .get, .oddPort, "photos/a b+c~.jpg", as: .presigned(seconds: 604800),
            url: "https://s3.example.org:8443/my-bucket/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "70304da73317449f2f766951d4064b7540dee4282a9b96bee40f9041ca8b3de2"),
        SigningCase(
            .get, .folder, "photos/a b+c~.jpg", as: .presigned(seconds: 1), hasToken: true,
            url: "https://example.org/storage/s3/my-bucket/photos/a%20b%2Bc~.jpg", signed: "host",
            signature: "9927aee01f3b90111d9c92ca8bdc2db51acf538bee9dc442ee195811aa8d6e10"),
        SigningCase(
            .get, .amazon, "plus+plus", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/plus%2Bplus", signed: "host",
            signature: "62e8b953ab09fcc17166d255fe3eb5dcd1e8aa4a2181590fc4dbde5bed58b4be"),
        SigningCase(
            .get, .amazon, "%2F", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/%252F", signed: "host",
            signature: "2a4e217787281265447cbdc4df9f87fb7635af0859c5337ce3063dd8c15e98fb"),
        SigningCase(
            .get, .amazon, "a//b", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a//b", signed: "host",
            signature: "5bf13548dd5e7b661f4705d783439a9b2925a220d99c3ab44d9e8817695c8a5f"),
        SigningCase(
            .get, .amazon, "trailing.", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/trailing.", signed: "host",
            signature: "ce46284b26ea0782cfff39de1dcf5afa4e44aed0d8dd6f1c356da338f3d18ee5"),
        SigningCase(
            .get, .amazon, "Z\u{FC}rich", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/Z%C3%BCrich", signed: "host",
            signature: "6d6874db5511f5763de494b60c1dc726cca4fd9e67bc2c02e81a02bec804c542"),
        SigningCase(
            .get, .amazon, "Zu\u{308}rich", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/Zu%CC%88rich", signed: "host",
            signature: "c2baee07b1961c346cb938579130e250ae4e188cee457748b7f1ed3184401114"),
        SigningCase(
            .get, .amazon, "what?", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/what%3F", signed: "host",
            signature: "c0cd5010ed5dac6931390174e44b9acaada4fc0bcbb854fcba9437cdbae0fdf6"),
        SigningCase(
            .get, .amazon, "a=b&c", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%3Db%26c", signed: "host",
            signature: "cd18c83a5dc9c4769fe64b6cf8d7063416cda1429dc5c1d6bfef71297b05ffd4"),
        SigningCase(
            .get, .amazon, "'(*!)", as: .presigned(seconds: 86400),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/%27%28%2A%21%29", signed: "host",
            signature: "9e3cc5db2fc41cbca0a261a6215ca195ce69de21ae8491a87fb83af6721e4ddd"),
        SigningCase(
            .get, .amazon, "a b.jpg", as: .presigned(seconds: 900),
            query: [("response-content-disposition", "attachment; filename=\"Z\u{FC}rich & co (1).jpg\"")],
            url:
                "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg?response-content-disposition=attachment%3B%20filename%3D%22Z%C3%BCrich%20%26%20co%20%281%29.jpg%22",
            signed: "host", signature: "bf35943efd6542e795be144d76576b8df323576ae246411c7dd276db027d8fe3"),
        SigningCase(
            .get, .loopback, "a b.jpg", as: .presigned(seconds: 900),
            query: [
                ("response-content-disposition", "inline"), ("response-content-type", "image/jpeg"),
                ("versionId", "3/L4+="),
            ], hasToken: true,
            url:
                "http://127.0.0.1:9000/my-bucket/a%20b.jpg?response-content-disposition=inline&response-content-type=image%2Fjpeg&versionId=3%2FL4%2B%3D",
            signed: "host", signature: "abb1ac4100c8ec83961d34f264f822bb55d03fdb65a441b1bda589767d9ab60e"),
        SigningCase(
            .head, .amazon, "a b.jpg", as: .presigned(seconds: 60),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg", signed: "host",
            signature: "69d211c63aef1f75fa0d8ae4e0d4f74b0aa6e32eabadca9571944fc0ac1f3d7a"),
        SigningCase(
            .put, .amazon, "a b.jpg", as: .presigned(seconds: 60),
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg", signed: "host",
            signature: "92ffebd8d974410ab14ec53a265831bada0816f47b21ecd49f869f7841c871d9"),
        SigningCase(
            .get, .amazon, "a b.jpg", as: .presigned(seconds: 60), headers: [("Range", "bytes=0-9")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg", signed: "host;range",
            signature: "0201638de4eee313e73873b3d406fbc706e13a885d873c9be8c5453da8bd6f03"),
        SigningCase(
            .get, .amazon, nil, as: .presigned(seconds: 60),
            query: [("list-type", "2"), ("prefix", "a b/"), ("encoding-type", "url")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/?encoding-type=url&list-type=2&prefix=a%20b%2F",
            signed: "host", signature: "f7a944fc5470a3c9cec1d1d4c3dd244efaf52606189d1e93146bc8fbe995d2ab"),
        SigningCase(
            .delete, .amazon, "a b.jpg", as: .presigned(seconds: 60), hasToken: true,
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg", signed: "host",
            signature: "a955dc363a705ea5bcee8533fe7f28bfb343f9ed1022220526890b80e72100cb"),
    ]
}
