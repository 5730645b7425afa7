/** Who publishes the package, and where. All of it stands in package.json, and nowhere else. */
export interface Identity {
	homepage: string;
	author: string;
	email: string;
}

/** What stands in package.json until the project has a public home. */
const STAND_IN = /[/@]example\.com(\/|$)|^Example /;
/** The address of a repository, from which that of its git is derived. */
const HOMEPAGE = /^https:\/\/[\w.-]+(\/[\w.-]+){2}(?<!\.git)$/;
const NAME = /^\S.*$/;
const EMAIL = /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/;

export const isPlaceholder = (value: string): boolean => STAND_IN.test(value);

/** What package.json says of an identity. */
export function identityFields({ homepage, author, email }: Identity) {
	return {
		homepage,
		repository: { type: 'git', url: `git+${homepage}.git` },
		author: { name: author, email },
	};
}

/** What is wrong with an identity, a sentence for each field of package.json. */
export function identityProblems({ homepage, author, email }: Identity): string[] {
	const fields = [
		{ name: 'homepage', value: homepage, isRight: HOMEPAGE, example: 'https://host/owner/name' },
		{ name: 'author.name', value: author, isRight: NAME, example: 'a name' },
		{ name: 'author.email', value: email, isRight: EMAIL, example: 'an e-mail address' },
	];
	return fields.flatMap(({ name, value, isRight, example }) => {
		if (isPlaceholder(value))
			return [`${name} is a placeholder ("${value}"): npm run identity sets it.`];
		return isRight.test(value) ? [] : [`${name} has to be ${example}, not "${value}".`];
	});
}
