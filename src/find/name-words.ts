/** Folded words that occur beside names, or in place of one, and are no part of them. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

export const TITLES = words(
  'bc bca mga mgr magistr magistra ing arch phdr paeddr pharmdr rndr rsdr mudr mvdr mddr judr thdr thlic thmgr icdr artd dr doc docent ' +
    'docentka prof profesor profesorka akad phd thd csc drsc dsc dis mba mpa msc llm feng ma mphil dphil plk pplk mjr npor ppor por kpt ' +
    'gen rtm prap nprap muc rev mons',
);

export const LINKS_OF_TITLES = words('et a mult hab');

export const ADDRESSES = words('p pi pan pani sl slecna mr mrs ms miss herr frau');

/** Words that are titles only with a dot, since they are parts of names as well. */
export const ONLY_WITH_DOT = words('por gen dis p sl pi ma rev prap');

/** Words for an unknown finder. */
export const UNKNOWN = words(
  'neznamy neznama nezname neznamo anonym anonymni anonymne anonymous unknown neuveden neuvedena neuvedeno neurcen neurcena neurceno ' +
    'nezjisten nezjistena nezjisteno nevime nikdo none null nil xxx xx x nalezce nalezkyne finder',
);

/** Particles, which names have in lower case. */
export const PARTICLES = words('z ze von van de da di du del della der den la le el al bin ibn ter ten zu zum d o');
