// Written by scripts/make-signing-cases, with botocore.
import SyncS3

extension SigningCase {
    /// Each operation and each kind of address.
    static let requests: [SigningCase] = [
        SigningCase(
            .get, .amazon, "photos/a b+c.jpg",
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "6aa3508762d202767c9063a2af26ad6b63ac2ed5eea45c9a2f5f3b51f1023420"),
        SigningCase(
            .get, .amazon, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "https://my-bucket.s3.eu-central-1.amazonaws.com/?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "f61c2902068ae9844da0b99a52c6a03a96b855303922da8fcc617b313e216c7c"),
        SigningCase(
            .get, .amazonPath, "photos/a b+c.jpg",
            url: "https://s3.eu-central-1.amazonaws.com/my-bucket/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "777c2e3f37d97e653d1dbf16cd7497f0af9e4d00bbb2069364a84b0651899bf8"),
        SigningCase(
            .get, .amazonPath, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "https://s3.eu-central-1.amazonaws.com/my-bucket?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "2513ef95742478dd967af15c9148a3769591cb8076a95611c6935c39b79a276f"),
        SigningCase(
            .get, .china, "photos/a b+c.jpg",
            url: "https://my-bucket.s3.cn-north-1.amazonaws.com.cn/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "3f6052f9058443f80ed656cc499bb0e05e84d2ebaf85d9272b72420d0aa4ebdd"),
        SigningCase(
            .get, .china, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "https://my-bucket.s3.cn-north-1.amazonaws.com.cn/?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "7ba674cec822db2916f029ca26db4b544c8173f38943e6cfac1d6717a2f5c7f3"),
        SigningCase(
            .get, .dotted, "photos/a b+c.jpg",
            url: "https://s3.us-west-2.amazonaws.com/my.photo.bucket/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "91e5dbacd6fac1533c2cf35306bbacc1dc709f9522b06f61cf1e640e0b7ca789"),
        SigningCase(
            .get, .dotted, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "https://s3.us-west-2.amazonaws.com/my.photo.bucket?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "ec63df59460a4254965dee9b01895e7b2fcf259289b6b5d85ec6b0bd445cc6df"),
        SigningCase(
            .get, .loopback, "photos/a b+c.jpg", url: "http://127.0.0.1:9000/my-bucket/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "a5a498440a3d6c0af0f04aafcc1d4edc155849ed0dcaf4af7f57458ae6181597"),
        SigningCase(
            .get, .loopback, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "http://127.0.0.1:9000/my-bucket?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "37dd75d7c4af575b59fa017d6df73ad2a3aeb55a47922f6fbdab36efd009347a"),
        SigningCase(
            .get, .named, "photos/a b+c.jpg", url: "http://my-bucket.s3.example.org:8080/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "42090fea4283fa550826e55b7bf487db4ad9d2e7f1b653fef96888bd648bfa2d"),
        SigningCase(
            .get, .named, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "http://my-bucket.s3.example.org:8080/?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "e639bd51896ed6c2fa47f18f2edfb49d6d3e4521e84f9eda93b8d650b73a8ffe"),
        SigningCase(
            .get, .plainPort, "photos/a b+c.jpg", url: "http://s3.example.org/my-bucket/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "e4f15298d50f5c8fa13748a6f4c65efa91f7dcd246adb07805712cce7de3a7d8"),
        SigningCase(
            .get, .plainPort, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "http://s3.example.org/my-bucket?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "99f5893460d0c8eba2b9c95d6b3a59eb042725d0e33d102d86661322e8667ad3"),
        SigningCase(
            .get, .securePort, "photos/a b+c.jpg", url: "https://s3.example.org/my-bucket/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "46c2fbd2240297746f0e8ed603dfec91a077f41a20a7a6397abad82ac9b20e77"),
        SigningCase(
            .get, .securePort, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "https://s3.example.org/my-bucket?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "e57cc153c09a069f07fa675dcdaa1011be9830c1852d0676d3903d92763f6f59"),
        SigningCase(
            .get, .oddPort, "photos/a b+c.jpg", url: "https://s3.example.org:8443/my-bucket/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "950f199fca79c48059cf70bc946341997ea4103a7b1d884b039321a9335cb1a7"),
        SigningCase(
            .get, .oddPort, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "https://s3.example.org:8443/my-bucket?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "4d53b41c88125c36145c20c3a8c5b62a139cd081fb8eedacb9554898656bd651"),
        SigningCase(
            .get, .folder, "photos/a b+c.jpg", url: "https://example.org/storage/s3/my-bucket/photos/a%20b%2Bc.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "89422be5cac74b02d8cff5914ea7ad009c4df71cade67ca3b3d6cec1adf056c9"),
        SigningCase(
            .get, .folder, nil,
            query: [
                ("list-type", "2"), ("prefix", "a b/+&=~\u{FC}"), ("max-keys", "7"), ("continuation-token", "x/y+z=="),
                ("encoding-type", "url"),
            ], hasToken: true,
            url:
                "https://example.org/storage/s3/my-bucket?continuation-token=x%2Fy%2Bz%3D%3D&encoding-type=url&list-type=2&max-keys=7&prefix=a%20b%2F%2B%26%3D~%C3%BC",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "5fe57c686f49697f66e80b74485be8fd573ec436adb9de53bae72f12be92c234"),
        SigningCase(
            .head, .amazon, nil, url: "https://my-bucket.s3.eu-central-1.amazonaws.com/",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "7e76b23d6ca1d519132d7a77531b497a72945e0b6176c0371063525c572738c5"),
        SigningCase(
            .get, .loopback, nil, query: [("location", "")], url: "http://127.0.0.1:9000/my-bucket?location=",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "5f98dad7f762e861c699b97bf2119ce8d9cede7795b46ce0575d7d95cbdea7fe"),
        SigningCase(
            .get, .amazon, nil, query: [("lifecycle", "")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/?lifecycle=",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "d182c467790b364ccaea6ecd766bf50614be771e644217f1f9946ab86e87ed5f"),
        SigningCase(
            .get, .amazon, nil, query: [("uploads", ""), ("prefix", "originals/")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/?prefix=originals%2F&uploads=",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "59f8758831d4d16b9dac041892411fb1d742642e964a0f23f1d1cf9b34ccd4ff"),
        SigningCase(
            .get, .amazon, "a b.jpg", headers: [("Range", "bytes=0-9")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg",
            signed: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "2fe8b2d08355da0072b3af408978113e73bf84f58090c09e041a47cf5b9ba2a4"),
        SigningCase(
            .get, .loopback, "a b.jpg", headers: [("Range", "bytes=1048576-")], hasToken: true,
            url: "http://127.0.0.1:9000/my-bucket/a%20b.jpg",
            signed: "host;range;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "6855b13da4ae375cb87f76e3aaeaa6c0bf676d7c6a1e8a751bb5c636d55005e1"),
        SigningCase(
            .get, .amazon, "a b.jpg", query: [("versionId", "3/L4kqtJ+cb=")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg?versionId=3%2FL4kqtJ%2Bcb%3D",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "591a3f4818ca17625ac0f0b9129d1d8489597e522f27f269a9ff127dfa966bed"),
        SigningCase(
            .get, .amazon, "a b.jpg", query: [("tagging", "")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/a%20b.jpg?tagging=",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "391ea836d0ba5080fd9830db4554188f58b36986fe1f3508905491eb6ea02fab"),
        SigningCase(
            .put, .loopback, "a b.jpg",
            headers: [("Content-Type", "image/jpeg"), ("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==")], body: "hello",
            url: "http://127.0.0.1:9000/my-bucket/a%20b.jpg",
            signed: "content-md5;content-type;host;x-amz-content-sha256;x-amz-date",
            signature: "255a81d5a3c987420f409ddc7c36e864e701d6355fc5217e37b3e4d9f7f4a492"),
        SigningCase(
            .put, .amazon, "empty", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/empty",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "6a34d9bd69c1ba3c94d7ed53b25a5a064685ee1c3fd745405dfdd5004bf5cbbb"),
        SigningCase(
            .put, .amazon, "once.jpg", headers: [("If-None-Match", "*"), ("x-amz-storage-class", "DEEP_ARCHIVE")],
            body: "hello", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/once.jpg",
            signed: "host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "df60e4ea618ed8423f320ccab434c432153436828a9cc197ce6a0de954ed4f23"),
        SigningCase(
            .put, .amazon, "odd spacing",
            headers: [
                ("Content-Type", "text/plain;  charset=utf-8"), ("x-amz-meta-leading", "  a"),
                ("x-amz-meta-trailing", "b  "), ("x-amz-meta-inside", "c   d  e"), ("x-amz-meta-tab", "f\u{9}g"),
                ("x-amz-meta-none", ""), ("x-amz-meta-dash-es", "1"), ("x-amz-meta-dash", "2"),
                ("x-amz-meta-quoted", "\"x   y\""), ("x-amz-meta-comma", "a, b,c"),
            ], body: "hello", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/odd%20spacing",
            signed:
                "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-comma;x-amz-meta-dash;x-amz-meta-dash-es;x-amz-meta-inside;x-amz-meta-leading;x-amz-meta-none;x-amz-meta-quoted;x-amz-meta-tab;x-amz-meta-trailing",
            signature: "8a5eeebbc30d6a217a9fabe65487b0084d32287e99692f1993abc850906d7078"),
        SigningCase(
            .put, .named, "encrypted",
            headers: [
                ("x-amz-server-side-encryption", "aws:kms"),
                ("x-amz-server-side-encryption-aws-kms-key-id", "arn:aws:kms:eu-central-1:111122223333:key/1234abcd"),
            ], body: "hello", hasToken: true, url: "http://my-bucket.s3.example.org:8080/encrypted",
            signed:
                "host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amz-server-side-encryption;x-amz-server-side-encryption-aws-kms-key-id",
            signature: "d74feb283c99ca014c592712af7b7e4e37809390b0fbf003c9b2adb724a333e1"),
        SigningCase(
            .put, .amazon, "copy of a+b.jpg",
            headers: [
                ("x-amz-copy-source", "my-bucket/a%20b%2Bc%25.jpg"), ("x-amz-metadata-directive", "COPY"),
                ("x-amz-storage-class", "GLACIER"),
            ], url: "https://my-bucket.s3.eu-central-1.amazonaws.com/copy%20of%20a%2Bb.jpg",
            signed:
                "host;x-amz-content-sha256;x-amz-copy-source;x-amz-date;x-amz-metadata-directive;x-amz-storage-class",
            signature: "315410791a42ce8501cd2e791d57a5b4a45457f166c6c2bd0503db07fee9f01a"),
        SigningCase(
            .post, .amazon, "large original.tif", query: [("uploads", "")],
            headers: [("x-amz-storage-class", "GLACIER_IR"), ("Content-Type", "image/tiff")],
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/large%20original.tif?uploads=",
            signed: "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "8e6a225fad328523b00599e5ecfeb5235e3a667a48b44e1231605243ea36004f"),
        SigningCase(
            .put, .amazon, "large original.tif", query: [("partNumber", "12"), ("uploadId", "VXBs+b2Fk/SUQ=")],
            body: "part",
            url:
                "https://my-bucket.s3.eu-central-1.amazonaws.com/large%20original.tif?partNumber=12&uploadId=VXBs%2Bb2Fk%2FSUQ%3D",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "d4fb59fb27722100ee3535a1908844c0f02f58caf5be9d6021e657d1ea8af57e"),
        SigningCase(
            .delete, .loopback, "large original.tif", query: [("uploadId", "a~b.c_d-e")],
            url: "http://127.0.0.1:9000/my-bucket/large%20original.tif?uploadId=a~b.c_d-e",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "73ea2ee33fb83b792b3b7f6985571ae5a6e52ca77bc9504ff02c3c56b871aa1c"),
        SigningCase(
            .put, .amazon, "unsigned body.jpg", as: .unsignedPayload, body: "hello",
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/unsigned%20body.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "1f23993b98d744c49ce0c7ed5a00769dff1195a5a73e9434f5ed4392692e7afe"),
        SigningCase(
            .put, .oddPort, "unsigned body.jpg", as: .unsignedPayload, body: "hello", hasToken: true,
            url: "https://s3.example.org:8443/my-bucket/unsigned%20body.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "1ba612686b4ad6832a25a649a5c375f67d8b9049386fa174b5e918fa557d8001"),
    ]
}
