import Foundation
import FoundationXML

/// Reads the XML of a request into a tree, without attributes.
final class XMLDocumentReader: NSObject, XMLParserDelegate {
    private var open: [XMLElement] = []
    private var root: XMLElement?

    /// - Throws: MalformedXML.
    static func read(_ bytes: [UInt8], root name: String) throws(S3Failure) -> XMLElement {
        let reader = XMLDocumentReader()
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = reader
        guard parser.parse(), let root = reader.root, root.name == name else { throw .malformedXML }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes attributeDict: [String: String]
    ) {
        open.append(XMLElement(elementName))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += string
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }
}
