/** An input as people, spreadsheets and contact cards write it, with its meaning; without one if the node refuses it. */
export interface Typed {
	typed: string | number;
	/** The value that is sent. */
	means?: string | number;
	/** A part of the error. */
	because?: string;
}

const means = (means: string | number, ...texts: Array<string | number>): Typed[] =>
	texts.map((typed) => ({ typed, means }));
const refused = (because: string, ...texts: Array<string | number>): Typed[] =>
	texts.map((typed) => ({ typed, because }));

export const PHONES: Typed[] = [
	...means(
		'11912345678',
		'(11) 91234-5678',
		...['\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212', '\uff0d'].map(
			(dash) => `(11) 91234${dash}5678`,
		),
		'\u202a(11)\u00a091234\u20115678\u202c',
		"'11912345678",
		'011912345678',
		'0 11 91234-5678',
		'(0)11 91234-5678',
		'11 91234 56 78',
		11912345678,
		'11912345678.0',
	),
	...means(
		'5511912345678',
		'+55 11 91234-5678',
		"'+5511912345678",
		'005511912345678',
		'00 55 (11) 91234-5678',
		'+55 (0) 11 91234-5678',
		'+55 011 91234-5678',
		'(+55) 11 91234-5678',
		'55 11 91234-5678',
		'5511912345678.0',
		'5511912345678@s.whatsapp.net',
		'5511912345678:12@s.whatsapp.net',
	),
	// WhatsApp leaves out the ninth digit in most of Brazil, and so do old lists.
	...means(
		'5547987654321',
		'554787654321@s.whatsapp.net',
		'554787654321@c.us',
		'554787654321',
		'+554787654321',
	),
	...means('5531987654321', '55 31 8765-4321', '+55 (31) 8765-4321'),
	...means('75988251234', '75 8825-1234', '075 8825-1234', '7588251234.0', 7588251234),
	...means('21987654321', '(21) 8765-4321'),
	...means('51991234567', '5191234567.0'),
	...means('55912345678', '(55) 91234-5678', '0 55 91234-5678'),
	...means('555533334444', '+55 55 3333-4444'),
	...means('1133334444', '(11) 3333-4444', '11.3333.4444', 1133334444),
	// Of another country, as they are.
	...means('51912345678', '+51 912 345 678', '0051912345678'),
	...means('351912345678', '+351 912 345 678'),
	...means('14155552671', '+1 (415) 555-2671'),
	...means('33612345678', '+33 (0)6 12 34 56 78'),
	...means('4512345678', '+45 12-34-56-78'),
	...means('376312345', '+376 312 345', '00 376 312345'),
	...means('29012345', '+290 12345'),
	...means('491512345678901', '+49 1512 345678901'),
	...refused('must be one phone', '(11) 91234-56789', '119123456789', '351912345678'),
	...refused('must be one phone', '11912345678901', '56912345678'),
	...means('51912345678', '51912345678@s.whatsapp.net'),
	...means('351912345678', '351912345678@c.us'),
	...means('14155552671', '14155552671:3@s.whatsapp.net'),
	...refused('without other text', '120363041234567890@g.us', 'maria@gmail.com'),
	...refused('without other text', '123456789012345@lid'),
	...refused('has no area code (DDD)', '91234-5678', '3333-4444', '4004-1234'),
	// Brazil without its country code, after a sign for another country.
	...refused('that of Brazil is 55', '+11 91234-5678', '+011 91234-5678', '+055 11 91234-5678'),
	...refused('a spreadsheet has shortened', '1,19123E+10', '5.51191E+12', '1E+10'),
	...refused('9 digits after the area code', '11111111111', '+55 11 1111-1111'),
	...refused('9 digits after the area code', '(11) 1234-5678', '551112345678', '11 81234-5678'),
	...refused('with its area code', '(10) 91234-5678', '+55 10 91234-5678', '20 3333-4444'),
	...refused('with its area code', '0800 123 4567', '08001234567', '0300 123 4567'),
	...refused('begins with +', '+351 912', '00 351 912', '+3519123456789012', '12345', '00'),
	...refused('without other text', '(11) 3333-4444 ramal 55', 'not yet', '11+912345678'),
	...refused('without other text', '(51) 9123-4444 / 5', '5191234567,0'),
];

export const AMOUNTS: Typed[] = [
	...means(1990, '\u200b19,90', '19,90\u200e', 'R$\u00a019,90', 'BRL 19,90', 'brl19.90', "'19,90"),
	...means(123_450, 'BRL 1.234,50', 'R$ 1.234,5', '1,234.5', "'1234,5"),
	...refused('is not one', '-19,90', 'R$ -19,90', '-R$ 1.234,50', '\u2212 19.90', -19.9),
	...refused('is not one', '19,90-', '10%', 'R$', '-', '１９，９０', '19,90 reais', '1 234,50'),
	...refused('is ambiguous', '19.900', 'BRL 1.990'),
	...refused('is not one', 'USD 19,90', '19.9010', '1.234.0000', '0.900', '19\n90'),
];

export const DOCUMENTS: Typed[] = [
	...means(
		'52998224725',
		'CPF: 529.982.247-25',
		'cpf 52998224725',
		'CPF529.982.247-25',
		"'52998224725",
		'529.982.247\u201325',
		'CPF/CNPJ: 529.982.247-25',
		'52998224725.0',
		'529.982.247-25.0',
	),
	...means('31043062300', 'CPF 310.430.623-00', 'CPF31043062300', 'CPF31043062300.'),
	...means('31043062300', 'CPF310 430 623 00', 'CPF310.430.623/00'),
	...means(
		'11222333000181',
		'CNPJ: 11.222.333/0001-81',
		'CNPJ 11222333000181',
		'CNPJ11222333000181',
		'cnpj11.222.333/0001-81',
		'11222333000181.0',
	),
	...means('12ABC34501DE35', 'CNPJ 12.abc.345/01de-35', '12 abc 345 01de 35', 'CNPJ12ABC34501DE35'),
	// With three letters in front, a CPF has the shape of a CNPJ.
	...refused('not a valid CNPJ', 'DOC 310.430.623-00', 'CIC: 31043062300', 'DO.C31.043/0623-00'),
	...refused('must be a CPF', 'RG CPF 310.430.623-00'),
	// A sheet has taken their zeros away.
	...means('01234567890', '1234567890', 1234567890),
	...means('00623904000173', '623904000173', '623904000173.0', "'623904000173", 623904000173),
	...refused('has 10', '1234567891', '123.456.789-0'),
	// A CNPJ with an E in it is no shortened number.
	...means('1E345678000105', '1E.345.678/0001-05'),
	...refused('a spreadsheet has shortened', '5,29982E+10', '1.12220E+13', '5E+10'),
	...refused('not a valid CPF', 'CPF: 529.982.247-26', '52998224726', '111.111.111-11'),
	...refused('not a valid CNPJ', 'CNPJ 11.222.333/0001-82', '00000000000000'),
	// Right as a CPF and as a CNPJ.
	...refused('must be a CPF', 191, 1.5),
];

export const EMAILS: Typed[] = [
	...means(
		'maria@example.com',
		"'maria@example.com",
		"''maria@example.com",
		'\u200bmaria@example.com\u2060 ',
	),
	...means('Maria.Silva+n8n@Mail.example.com', 'Maria.Silva+n8n@Mail.example.com'),
	...means("o'neil@example.com", "o'neil@example.com"),
	...means('maria-silva@example.com', 'maria\u2011silva@example.com'),
	...refused(
		'is not an e-mail address',
		...['João', 'maria@example,com', 'maria@example.com, joao@example.com', 'maria @example.com'],
		...[
			'joão@example.com',
			'@example.com',
			'a@b@c.de',
			'mailto:maria@example.com',
			'Maria <maria@example.com>',
		],
		...['x@x.x', 'a..b@example.com', '.a@example.com', 'a.@example.com', 'maria@example..com'],
		...['maria@example.c0m', 'maria@-example.com', 'maria@example'],
	),
];

export const QUANTITIES: Typed[] = [
	...means(12, 12, ' 12 ', '12'),
	...refused('must be a whole number', 0, 1.5, '1.5', '1.000', '1e3', '-1', 2 ** 53, 'two'),
];

export const NAMES: Typed[] = [
	...means('Maria da Silva', "'Maria da Silva", '\u200bMaria\u00a0da  Silva\u200e '),
	...means('Ana-Maria', 'Ana\u2011Maria'),
	...means("Joana d'Arc", "Joana d'Arc"),
];
