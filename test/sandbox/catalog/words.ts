export const FORMATS = [
	'Curso de',
	'Mentoria em',
	'E-book:',
	'Guia Prático de',
	'Formação Completa em',
	'Imersão',
	'Clube de',
	'Planilhas de',
	'Oficina de',
] as const;

export const TOPICS = [
	'Confeitaria Artesanal',
	'Violão para Iniciantes',
	'Programação Web',
	'Meditação e Respiração',
	'Finanças Pessoais',
	'Inglês para Viagens',
	'Fotografia de Família',
	'Jardinagem Orgânica',
	'Pães de Fermentação Natural',
	'Ilustração Digital',
	'Gestão de Tráfego',
	'Crochê & Tricô',
	'Redação para o ENEM',
	'Ioga em Casa',
	'Marcenaria Básica',
	'Edição de Vídeo',
	'Oratória sem Medo',
	'Alimentação Saudável',
	'Maquiagem Profissional',
	'Excel "do Zero ao Avançado"',
	'Adestramento de Cães',
	'Música Gospel no Teclado',
	'Organização da Casa',
	'Cerâmica e Modelagem à Mão',
] as const;

export const EDITIONS = [
	'',
	' — Edição Especial',
	' 2.0',
	' (Turma da Manhã)',
	' para Mães',
	' em 30 Dias',
	' Avançado',
] as const;

export const OFFER_TITLES = [
	'À vista',
	'Black Friday',
	'Lançamento',
	'Promoção de Verão',
	'Padrão',
];

/** Cents; 115 and 1990 are among those that binary fractions get wrong. */
export const PRICES = [115, 990, 1990, 2999, 4700, 6790, 9700, 14990, 19700, 29700, 49700, 99700];

export const GUARANTEES = ['7', '7', '14', '15', '30'] as const;

export const SUPPORT_NAMES = ['Ana Conceição', 'João Araújo', 'Equipe São Luís', 'Lúcia Brandão'];
