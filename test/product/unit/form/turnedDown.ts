/** A word or construction that nobody would say aloud, and what to write instead. */
export interface TurnedDown {
	words: RegExp;
	better: string;
	/** Fine in a comment, which speaks of code. */
	isFineInComments?: boolean;
}

/** What no text that people read may contain. */
const TURNED_DOWN: TurnedDown[] = [
	{ words: /\bwho(m|so)?ever\b/i, better: 'anyone who, users' },
	{ words: /\bthe one who\b/i, better: 'the person who, or a noun' },
	{ words: /\bmanieth\b/i, better: 'a count: 429s so far' },
	{ words: /\bshall\b/i, better: 'must, will, or the present tense' },
	{ words: /\b(is|are|was|were|be) given up\b/i, better: 'stops, fails' },
	{ words: /\b(service panel|panel of the service)\b/i, better: 'the dashboard' },
	{ words: /\bon at first\b/i, better: 'on by default' },
	{ words: /\bwithout a hand\b/i, better: 'unattended' },
	{ words: /\bhas not (the|a|an)\b/i, better: 'is not, lacks' },
	{ words: /\b(one piece|how many pieces)\b/i, better: 'unit', isFineInComments: true },
	{ words: /\bc[ao]mes? to (nothing|pass)\b/i, better: 'fails, has no effect, happens' },
	{ words: /\bwhat c[ao]mes? of\b/i, better: 'the outcome, the result' },
	{
		words:
			/\bwhere (it|there|they) (is|are|was|were|has|have|do|does|did) (not|no|none|nothing)\b/i,
		better: 'if',
	},
	{ words: /\blest\b/i, better: 'so that ... not' },
	{ words: /\bbeside it:/i, better: 'and', isFineInComments: true },
	{ words: /\banew\b/i, better: 'again, or a new ...' },
	{
		words: /\bby (itself|themselves)\b/i,
		better: 'automatically, directly, alone',
		isFineInComments: true,
	},
	{ words: /\bhence\b/i, better: 'so' },
	{ words: /\bfor ever\b/i, better: 'forever' },
	{ words: /\bleft blank,/i, better: 'If you leave it blank,', isFineInComments: true },
	{ words: /\bmend(s|ed|ing)?\b/i, better: 'fix' },
	{ words: /\bused up\b/i, better: 'limit reached', isFineInComments: true },
	{ words: /\bgo(es|ing)? on\b/i, better: 'continues, keeps', isFineInComments: true },
	{ words: /\bturn(s|ed)? away\b/i, better: 'rejects', isFineInComments: true },
	{ words: /\bunfold\b/i, better: 'expand' },
	{ words: /\bnot wanted\b/i, better: 'excluded', isFineInComments: true },
	{ words: /\bWho is told\b/, better: 'Who to notify' },
	{ words: /\bnobody has listed\b/i, better: 'unlisted', isFineInComments: true },
	{ words: /\bwaited for its turn\b/i, better: 'waited', isFineInComments: true },
	{ words: /\b(instalment|behaviour|colour|favour|licence)/i, better: 'American spelling' },
	{
		words: /\b(recogni|authori|organi|seriali|normali|summari)s(e|es|ed|ing|ation)\b/i,
		better: 'American spelling',
	},
];

/** The turned-down words in a text for people, each with what to write instead. */
export function turnedDownIn(text: string): string[] {
	return TURNED_DOWN.flatMap((entry) => findingsOf(entry, text));
}

/** The turned-down words in a comment, each with what to write instead. */
export function turnedDownInComment(text: string): string[] {
	return TURNED_DOWN.filter(({ isFineInComments }) => !isFineInComments).flatMap((entry) =>
		findingsOf(entry, text),
	);
}

function findingsOf({ words, better }: TurnedDown, text: string): string[] {
	const found = words.exec(text);
	if (!found) return [];
	const around = text.slice(Math.max(0, found.index - 40), found.index + found[0].length + 40);
	return [`"${found[0]}" (better: ${better}) in: ${around.replace(/\s+/g, ' ')}`];
}
