import type { Issue } from '../base/issue.ts';
import type { DocumentProfile } from './find.ts';

/** The bundled schema of one profile, ready to judge documents. */
export type FindSchema = {
  readonly profile: DocumentProfile;
  /** Issues carry `line`, `element` and a message in words. */
  check(document: Buffer): readonly Issue[];
};

export declare function openFindSchema(profile: DocumentProfile): Promise<FindSchema>;
