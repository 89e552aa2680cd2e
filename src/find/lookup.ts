/** What the find layer needs to know of the vocabularies, without knowing how they are stored. */

export type TermCandidate = {
  readonly id: string;
  /** Czech label, or the person's or organisation's name. */
  readonly label: string;
  readonly labelEn?: string;
  readonly setSpec: string;
  /** What tells people of one name apart: years, and the surname at birth. */
  readonly about?: string;
};

export type TermLookup =
  /** `isOwn`: a mapping of the user's says so. */
  | { readonly kind: 'found'; readonly term: TermCandidate; readonly isOwn?: true }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly TermCandidate[] }
  | {
      readonly kind: 'unknown';
      readonly nearest: readonly TermCandidate[];
      /** The set is so small that `nearest` is all of it. */
      readonly isAll?: true;
      /** Entries of other sets that are called so. */
      readonly elsewhere?: readonly TermCandidate[];
    }
  /** The identifier exists, but in another vocabulary, or was deleted. */
  | { readonly kind: 'wrong-set'; readonly term: TermCandidate }
  | { readonly kind: 'deleted'; readonly term: TermCandidate }
  /** The museum's own term is mapped to something that is no entry of this set, or no longer. */
  | {
      readonly kind: 'mapping-conflict';
      readonly own: string;
      /** What it is mapped to: an identifier, or a label. */
      readonly target: string;
      readonly term?: TermCandidate;
      readonly because?: 'wrong-set' | 'deleted';
    }
  /** This set has not been harvested: nothing can be said. */
  | { readonly kind: 'not-harvested' };

/** Looks a cell (identifier, Czech or English label, the museum's own term) up in one set, such as `heslo:obdobi`. */
export type LookupTerm = (setSpec: string, cell: string) => TermLookup;

/** Distance in metres is to the nearest harvested cadastral area's boundary. */
export type AreaLookup =
  | { readonly kind: 'inside'; readonly area: TermCandidate }
  | { readonly kind: 'outside'; readonly nearest?: TermCandidate; readonly distanceM?: number }
  | { readonly kind: 'not-harvested' };

/** Which cadastral area holds a WGS 84 point. */
export type LookupArea = (longitude: number, latitude: number) => AreaLookup;

/** What harvesting says of a project. */
export type ProjectLookup =
  | {
      readonly kind: 'found';
      readonly survey: boolean;
      readonly type: string;
      /** Null where the record does not say. */
      readonly stav: number | null;
      /** Its name; empty where the record does not say. */
      readonly organisation: string;
    }
  /** `list`: all projects of the service, or all that this account is shown, were harvested. */
  | { readonly kind: 'unknown'; readonly list?: 'whole' | 'as-shown' }
  | { readonly kind: 'hidden' | 'deleted' | 'not-harvested' };

export type LookupProject = (ident: string) => ProjectLookup;
