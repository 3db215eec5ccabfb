// Written by scripts/make-signing-cases, with botocore.
import SyncS3

extension SigningCase {
    /// Awkward keys, at Amazon and elsewhere.
    static let keys: [SigningCase] = [
        SigningCase(
            .get, .amazon, "plain.jpg", hasToken: true,
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/plain.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "9fb613c5ff9a72c8da4e5dce39d497a6011e4ad2898d7f980f2f7f9e2de8a8fd"),
        SigningCase(
            .head, .loopback, "with space.jpg", url: "http://127.0.0.1:9000/my-bucket/with%20space.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "8b3a2f9a180ddfd869f79d971e8ad6ab7da85cd1ae4ae1b94a69964a6464bb78"),
        SigningCase(
            .delete, .amazonPath, " leading", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/%20leading",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "81119f968163520709874789d66092d051094e0a265c3b135f11d577208336c0"),
        SigningCase(
            .get, .named, "trailing ", url: "http://my-bucket.s3.example.org:8080/trailing%20",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "72b03dca3a14b43c9737d5afb49b6fbb5613bddd51264bc5a00911fd928555ad"),
        SigningCase(
            .head, .amazon, "two  spaces", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/two%20%20spaces",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "3d0212644ddb38212a7fa54c6abf68b1133e649cf88657286d51af1a7ce4f63a"),
        SigningCase(
            .delete, .loopback, "plus+plus", hasToken: true, url: "http://127.0.0.1:9000/my-bucket/plus%2Bplus",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "c51450c618d42a4c5e6d0f4d1ae920c7276499c75dd48a56f19b4cd38ed73557"),
        SigningCase(
            .get, .amazonPath, "per%cent", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/per%25cent",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "5a114ab5cb352d07438970cd53161cfdf5a5a64163ad6e78a1496bd0a7d92bc6"),
        SigningCase(
            .head, .named, "%41", url: "http://my-bucket.s3.example.org:8080/%2541",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "da419e687cf53d8957fef100680f6acf99894ed0d204040e214dd6e45a8afc2d"),
        SigningCase(
            .delete, .amazon, "%2F", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/%252F",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "4e514c57065db2cb40d0930a9821e748b59b82cb7c0a1d8c67fe1403da814723"),
        SigningCase(
            .get, .loopback, "a%20b", url: "http://127.0.0.1:9000/my-bucket/a%2520b",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "e47b6e8c88df0b7c1518f8cb0f6f824c7ec4edb9b4584c718419a1965473700c"),
        SigningCase(
            .head, .amazonPath, "a//b", hasToken: true, url: "https://s3.eu-central-1.amazonaws.com/my-bucket/a//b",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "011812aa5b505970c73897770666dfb531484127492ce73d92c39b58e2506868"),
        SigningCase(
            .delete, .named, "a///b/", url: "http://my-bucket.s3.example.org:8080/a///b/",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "060e67ed95aa15546c644d648f36170fbc982ab06da85d3d5978e9d323a646f0"),
        SigningCase(
            .get, .amazon, "tilde~", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/tilde~",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "55f03690ca1221a596020074190eeafea1d1f5080429beb080a1b5010abe4ebf"),
        SigningCase(
            .head, .loopback, "~/~", url: "http://127.0.0.1:9000/my-bucket/~/~",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "51797fe1dae09e8692cecfa934270f525213babbcf224b1779d222d3868a4581"),
        SigningCase(
            .delete, .amazonPath, "trailing.", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/trailing.",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "7bca254db1fa245762b2ec410c8d2ceaf0fd3eaaaae7fdee9db18ccc49872f07"),
        SigningCase(
            .get, .named, "dots...", hasToken: true, url: "http://my-bucket.s3.example.org:8080/dots...",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "cb8f4ca47eb35526158c59b8b8159a2cb915482f4ed82c5a2ef900425251b443"),
        SigningCase(
            .head, .amazon, ".hidden", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/.hidden",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "cc4d4ed2725df1b6be384122268e4bf9755c7940ba9edf0d2721e910111e8447"),
        SigningCase(
            .delete, .loopback, "a=b", url: "http://127.0.0.1:9000/my-bucket/a%3Db",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "253f4eb7c1be5ad50aef3d4ee8a1eacf46d80f7f5fef50e40ce958c399cd4faf"),
        SigningCase(
            .get, .amazonPath, "a&b", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/a%26b",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "c64c399d563e069fbecb131c26f396bf4d3d449133f37ad4ea72a89e9e4cae1f"),
        SigningCase(
            .head, .named, "at@sign", url: "http://my-bucket.s3.example.org:8080/at%40sign",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "4f60586255f700d77aee352b28884237b3fdf6ccd408d740bc2edf0e17ccc7d7"),
        SigningCase(
            .delete, .amazon, "co:lon", hasToken: true, url: "https://my-bucket.s3.eu-central-1.amazonaws.com/co%3Alon",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "80934d5f1dc65cd2e79f96c33995cc538b9e7f9e784f2e0db18487f7e5d918a2"),
        SigningCase(
            .get, .loopback, "quote'", url: "http://127.0.0.1:9000/my-bucket/quote%27",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "19072a0c25aea255566dccd7a8157ef4d8ee5ea0b60124dead1c8b603b808264"),
        SigningCase(
            .head, .amazonPath, "paren(s)", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/paren%28s%29",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "ed0f5f7fe354cb10023e92af8c5c67499eef2b6246cd530fa031d2a781089952"),
        SigningCase(
            .delete, .named, "star*", url: "http://my-bucket.s3.example.org:8080/star%2A",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "337620c572a165237797801fe038605824977b65058a6a7e6fdbc4d9b28c7697"),
        SigningCase(
            .get, .amazon, "bang!", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/bang%21",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "dfa72ebf89fb33aa999bc3684bd6eee36285bf22a269d2ab782f8f316225cdf1"),
        SigningCase(
            .head, .loopback, "comma,", hasToken: true, url: "http://127.0.0.1:9000/my-bucket/comma%2C",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "8541b94192af2b5ce4f34f57956c6d260c3d57762678f373af31142b7f13ab22"),
        SigningCase(
            .delete, .amazonPath, "semi;colon", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/semi%3Bcolon",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "a8a54df0d277d81fba693b322f32c75da37a617f7e079edc51fbd999a6afd946"),
        SigningCase(
            .get, .named, "what?", url: "http://my-bucket.s3.example.org:8080/what%3F",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "7f16657f3deb7c0668e9c41e757eae8ef3e0c9fc66b49c4a0edf0ccb51e19a3a"),
        SigningCase(
            .head, .amazon, "hash#", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/hash%23",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "a2606b4a7340d45c85d7720913470537f3f1dc7800638729531ee7c4d0bd91a0"),
        SigningCase(
            .delete, .loopback, "dollar$", url: "http://127.0.0.1:9000/my-bucket/dollar%24",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "943e7ac3e3ca642f9d02fe8a94a4dd909b8c24790a97e0e7c0e7b47c8365b3a7"),
        SigningCase(
            .get, .amazonPath, "back\\slash", hasToken: true,
            url: "https://s3.eu-central-1.amazonaws.com/my-bucket/back%5Cslash",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "9033d3c3219245d09e9e0b4cdd32b1162577cc0cdfe0f9714766a7c05683edb9"),
        SigningCase(
            .head, .named, "double\"quote", url: "http://my-bucket.s3.example.org:8080/double%22quote",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "1a8f0ee260d4dbd9fcebe99c3c8fb2d802d0e1e5d7d11994636bbd4d26ab6a41"),
        SigningCase(
            .delete, .amazon, "<tag>", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/%3Ctag%3E",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "1c94c02fe600f3d3187faf99077fc0ef10a155628bdafe2e2b6fe773050004dd"),
        SigningCase(
            .get, .loopback, "[brackets]", url: "http://127.0.0.1:9000/my-bucket/%5Bbrackets%5D",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "2c5992a4364785b53571f3373055a2a0c866f91606dcff84d0567f5f7348bd39"),
        SigningCase(
            .head, .amazonPath, "{braces}", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/%7Bbraces%7D",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "9301560fcec9f446f205c752c3c0f5b1f8c9ad0cdd6f3976c35f227a9c621e6b"),
        SigningCase(
            .delete, .named, "pi|pe", hasToken: true, url: "http://my-bucket.s3.example.org:8080/pi%7Cpe",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "7cb63e1064cee7c4df365bfea9006baa4d9f1effe38ffce2d60ddb4977b25156"),
        SigningCase(
            .get, .amazon, "caret^", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/caret%5E",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "2d6d50ccdfa18690ae402af6c622af431fd5bb6c683312d5adc5e224353bb21a"),
        SigningCase(
            .head, .loopback, "back`tick", url: "http://127.0.0.1:9000/my-bucket/back%60tick",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "9a305e0e841581c65f25772b89245c726c740332b1daefe115fc4f4144f78e64"),
        SigningCase(
            .delete, .amazonPath, "Z\u{FC}rich", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/Z%C3%BCrich",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "95b458444bcb40a1cedb837c1ce17933beec1ad4524dc874bb364271d30f1b1e"),
        SigningCase(
            .get, .named, "Zu\u{308}rich", url: "http://my-bucket.s3.example.org:8080/Zu%CC%88rich",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "14f98d2569c2e8291be9858791b45281f9c25076cf2fa6689b56ddd52cc6f7a6"),
        SigningCase(
            .head, .amazon, "\u{6771}\u{4EAC}/\u{5854}.jpg", hasToken: true,
            url: "https://my-bucket.s3.eu-central-1.amazonaws.com/%E6%9D%B1%E4%BA%AC/%E5%A1%94.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "76dc4dae756761c924343ba696e7b9da2cc38bcc1349642e71bd391a39d303c1"),
        SigningCase(
            .delete, .loopback, "\u{1F3D4}", url: "http://127.0.0.1:9000/my-bucket/%F0%9F%8F%94",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "fa3b5ff81c23c20cdbe813da6282ddfab9e0d68465d580d9580273d1c5a70517"),
        SigningCase(
            .get, .amazonPath, "a/./b", url: "https://s3.eu-central-1.amazonaws.com/my-bucket/a/./b",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "823cdf014c879ee2159928b4d4048048a0b8431bb291411f2fdedc3718acf2f4"),
        SigningCase(
            .head, .named, "a/../b", url: "http://my-bucket.s3.example.org:8080/a/../b",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "4c31fabc5050c7160bfd643ecfc94ab71fb9f0fdd9d21f2238d2e6bb6199b2f9"),
        SigningCase(
            .delete, .amazon, "..", url: "https://my-bucket.s3.eu-central-1.amazonaws.com/..",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "fa91169ede7cf0649a67ac1e7d532d3ff8d435effce68a7750688249af1c4fa9"),
        SigningCase(
            .get, .loopback, "tab\u{9}newline\u{A}", hasToken: true,
            url: "http://127.0.0.1:9000/my-bucket/tab%09newline%0A",
            signed: "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "813c55d45932bc321a7b24d9a0d6c9117db57864fdf39624c788779433f94ea5"),
        SigningCase(
            .head, .amazonPath, "!*'()&=:@$,;?#[]+ ~",
            url:
                "https://s3.eu-central-1.amazonaws.com/my-bucket/%21%2A%27%28%29%26%3D%3A%40%24%2C%3B%3F%23%5B%5D%2B%20~",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "e381f29485ffcc060a7dfd143c023d3f7181e931037fb7f39884f50d4235a471"),
        SigningCase(
            .delete, .named, "2026/11/21/IMG_0001 (1).jpg",
            url: "http://my-bucket.s3.example.org:8080/2026/11/21/IMG_0001%20%281%29.jpg",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "dc8788c878fff01a831f1a0b9018fab90c69d6aa8b32cbc37bab4800af34492f"),
    ]
}
