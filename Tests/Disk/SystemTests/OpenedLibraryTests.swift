import CSyncLibrary
import Testing

/// libm stands for any library: `fma` is one of its functions.
@Suite struct OpenedLibraryTests {
    /// What the opening says, and the address that was found.
    private func open(_ library: String, _ function: String) -> (missing: String?, address: UnsafeMutableRawPointer?) {
        var address: UnsafeMutableRawPointer?
        let missing = library.withCString { library in
            function.withCString { function in
                withUnsafeMutablePointer(to: &address) { address in
                    var row = CSyncLibrary_Function(name: function, address: address)
                    return withUnsafePointer(to: &row) { row in
                        var needs = CSyncLibrary_Needs(library: library, functions: row, count: 1)
                        return CSyncLibrary_Open(&needs).map { String(cString: $0) }
                    }
                }
            }
        }
        return (missing, address)
    }

    @Test func `a function of a library is found, as often as one asks`() {
        for _ in 0..<2 {
            let found = open("libm.so.6", "fma")
            #expect(found.missing == nil)
            #expect(found.address != nil)
        }
    }

    @Test(arguments: [("libno-such.so.1", "fma"), ("libm.so.6", "no_such_function")])
    func `what is missing is named`(library: String, function: String) {
        let found = open(library, function)
        #expect(found.missing?.contains("no-such") == true || found.missing?.contains("no_such") == true)
        #expect(found.address == nil)
    }
}
