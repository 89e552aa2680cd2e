/**
 * Deviations of the deployed service from its contract and, with the prefix `oai-`, from OAI-PMH
 * 2.0; enabled by `--deployed`. Keys are stable, since tests and documentation cite them; new ones
 * come last.
 */
export const QUIRKS = {
  'import-repeated-file-part':
    'A repeated part `file` on import is not refused; the last one is used, other files are ignored.',
  'proxy-limit':
    'The proxy counts the multipart boundaries too: a photograph just under 262,144,000 bytes gets 413 with an HTML page.',
  'millisecond-rates':
    'A rate limit per `ms` never refuses anything: its window is over before it is looked at.',
  'wkt-copied':
    'With a leading `+` or an exponent in the WKT the other geometry is not computed; the numbers are copied.',
  'wkt-third-number':
    'A third number in the WKT passes all checks and then fails to be stored: 500.',
  'wkt-epsg-unread': 'The attribute `EPSG` of a geometry is never compared with `geom_system`.',
  'wkt-blank': 'An empty geometry is none: a find in state 1 passes with it.',
  'oai-request-unescaped':
    'Arguments are repeated in `request` without escaping: some make the answer ill-formed XML.',
  'oai-error-request-bare':
    'The `request` of every error answer has no attributes, and most error elements no text.',
  'oai-arguments-unchecked':
    'Identify, ListSets and ListMetadataFormats ignore arguments that they do not know.',
  'oai-sets-everywhere':
    'Version 2.0 lists the sets of 2.2; ListSets is never paged and ignores a token.',
  'oai-invalid-set': 'A set that is not listed is a badArgument.',
  'oai-window-order': 'A `from` later than `until` is noRecordsMatch.',
  'oai-milliseconds':
    'Datestamps carry milliseconds, `from` and `until` may, and `until` excludes the rest of its second.',
  'oai-headers-wrapped': 'ListIdentifiers wraps each header in a `record`.',
  'oai-hidden-listed':
    'Records that a role is never shown are listed too, with the refusal as their metadata.',
  'oai-find-visibility':
    'An own find disappears once another change follows its registration; organisations count by project and receiver.',
  'oai-offsets':
    'A page starts at a position, not behind a record: a list that changes meanwhile drifts.',
  'oai-last-token': 'The last page has a token too; it leads to an empty list without one.',
  'oai-token-loose': 'A token holds for either list verb and for every version.',
  'oai-deleted-without-set': 'The header of a deleted record may lack its set.',
  'oai-nested-dc':
    'Dublin Core stands twice nested, with a misspelt label, an empty coverage, and bare refusals.',
  'oai-identifier-cut': 'The prefix of an identifier is cut off by its length, whatever it says.',
  'oai-unlisted-version': 'A version that never was is no 404; `v2.1` works as 2.1.',
  'oai-post-redirect': 'A form posted to the generic endpoint is lost by its redirect.',
  'oai-basic-only':
    'Bearer tokens are ignored; wrong credentials get 401 without a challenge, unreadable ones a protocol error or 500.',
  'oai-session-cookie': 'Signing in sets a cookie that keeps one signed in for five idle hours.',
  'oai-unknown-verb-request': 'After an unknown verb the `request` names the host alone.',
  'oai-announcer-masked':
    'An announcer who is hidden from a role is replaced by the refusal instead of being left out, and so are hidden records.',
} as const satisfies Record<string, string>;
