import type { DocumentProfile, Find } from './find.ts';

/** The import document of a find, as the exact bytes that are validated, stored, digested and sent. */
export declare function buildDocument(find: Find, profile: DocumentProfile): Buffer;
