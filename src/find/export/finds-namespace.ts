/** Of the elements round the import documents that `pas export` writes into one file. */
export const FINDS_NAMESPACE = 'urn:pas:finds:1';
