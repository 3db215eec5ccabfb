import Mustache

/// A template of the program, parsed once, with what it is dressed in.
struct PageTemplate: Sendable {
    /// For the browser: the one style sheet and the one script whose hashes these are may run, and nothing is loaded
    /// from another origin. CSP level 3; the hashes are of the texts between the tags, and a test holds them.
    let policy: String
    let style: String
    let script: String?
    private let parsed: Result<MustacheTemplate, any Error>

    static let share = PageTemplate(
        PackageResources.share_mustache,
        style: PackageResources.page_css + PackageResources.share_css, script: PackageResources.share_js,
        policy: """
            default-src 'none'; img-src 'self'; \
            style-src 'sha256-Cev8jf5YRsTy5k5ktFvndPvkepqpR64Wznp+nNKwXiY='; \
            script-src 'sha256-cbnOs72jUYTLItuXcLGd2qYWC2L4XjgO5nuRGHHBVWo='; \
            connect-src 'self'; base-uri 'none'; form-action 'none'
            """
    )

    static let contactSheet = PageTemplate(
        PackageResources.contact_sheet_mustache,
        style: PackageResources.page_css + PackageResources.contact_sheet_css, script: nil,
        policy: """
            default-src 'none'; img-src data: 'self'; \
            style-src 'sha256-94TEWveuj+7BRBB99QprSEAoCCVvXLH3KcsCWvTMzhE='; \
            base-uri 'none'; form-action 'none'
            """
    )

    private init(_ template: [UInt8], style: [UInt8], script: [UInt8]?, policy: String) {
        self.policy = policy
        self.style = String(decoding: style, as: UTF8.self)
        self.script = script.map { String(decoding: $0, as: UTF8.self) }
        // The templates begin with the name. Registering again replaces a value by an equal one.
        MustacheContentTypes.register(PageEscaping(), named: "PAGE")
        parsed = Result { try MustacheTemplate(string: String(decoding: template, as: UTF8.self)) }
    }

    func render(_ view: some Sendable) throws(PageError) -> String {
        switch parsed {
        case .success(let template): return template.render(view)
        case .failure(let error): throw PageError(.template, "the template of a page cannot be parsed: \(error)")
        }
    }
}
