import type { Festival } from './festival.ts'

/** A club night: nearly all drinks, wristbands, one wave when the doors open and the great one after midnight. */
export const nachtschicht: Festival = {
  organizationId: 'a3e81f05-96b4-4d7c-8f12-c7405be1aa03',
  organizationName: 'Kollektiv Nachtschicht e. V.',
  organizationStatus: 'ActiveDayPass',
  eventName: 'Nachtschicht am Kanal',
  timeZone: 'Europe/Berlin',
  weight: 18,
  opens: '20:00',
  lastOrders: '27:00',
  peaks: [
    { at: '21:10', spreadMinutes: 35, weight: 26 },
    { at: '24:20', spreadMinutes: 60, weight: 62 },
  ],
  areas: [
    { areaId: 1, name: 'Hauptbar', letter: 'H', weight: 55, tables: 0, service: { kind: 'counter' } },
    { areaId: 2, name: 'Terrasse', letter: 'T', weight: 28, tables: 18, service: { kind: 'counter' } },
    {
      areaId: 3,
      name: 'Imbiss',
      letter: 'I',
      weight: 17,
      tables: 0,
      service: { kind: 'cooked', minutes: 5 },
    },
  ],
  menu: [
    {
      name: 'Bier',
      soldAt: [1, 2],
      dishes: [
        ['Pils 0,33 l', 380, 26],
        ['Helles 0,5 l', 480, 20],
        ['Weizen 0,5 l', 500, 7],
        ['Radler 0,5 l', 480, 7],
        ['Alkoholfreies Pils', 380, 4],
      ],
    },
    {
      name: 'Longdrinks',
      soldAt: [1, 2],
      dishes: [
        ['Gin Tonic', 900, 18],
        ['Wodka Mate', 850, 17],
        ['Cuba Libre', 850, 8],
        ['Moscow Mule', 950, 8],
        ['Whisky Cola', 850, 6],
        ['Aperol Spritz', 750, 11],
        ['Espresso Martini', 1100, 5],
      ],
    },
    {
      name: 'Shots',
      soldAt: [1],
      dishes: [
        ['Mexikaner', 250, 12],
        ['Pfeffi', 250, 10],
        ['Tequila', 300, 8],
        ['Kräuterlikör', 300, 7],
      ],
    },
    {
      name: 'Wein und Sekt',
      soldAt: [1, 2],
      dishes: [
        ['Weißweinschorle', 480, 9],
        ['Grauburgunder 0,2 l', 600, 5],
        ['Sekt 0,1 l', 450, 6],
      ],
    },
    {
      name: 'Alkoholfrei',
      soldAt: [1, 2, 3],
      dishes: [
        ['Mineralwasser 0,33 l', 250, 18],
        ['Club-Mate', 350, 16],
        ['Cola 0,33 l', 320, 9],
        ['Apfelschorle', 320, 6],
        ['Bitter Lemon', 320, 4],
      ],
    },
    {
      name: 'Imbiss',
      soldAt: [3],
      dishes: [
        ['Currywurst', 550, 14],
        ['Pommes', 420, 17],
        ['Falafel im Fladenbrot', 650, 11],
        ['Halloumi-Wrap', 750, 7],
        ['Käsespätzle', 780, 6],
      ],
    },
  ],
  paymentMethods: [
    { name: 'Armband', weight: 52, isCash: false },
    { name: 'EC-Karte', weight: 27, isCash: false },
    { name: 'Bar', weight: 21, isCash: true },
  ],
  coverChargeCents: 0,
  preOrders: 0.01,
  takeaway: 0.05,
  discounts: [
    { percent: 0, weight: 92 },
    { percent: 30, weight: 8 },
  ],
  deposit: {
    name: 'Becherpfand',
    categoryName: 'Pfand',
    cents: 200,
    cupOf: [
      'Helles 0,5 l',
      'Weizen 0,5 l',
      'Radler 0,5 l',
      'Gin Tonic',
      'Wodka Mate',
      'Cuba Libre',
      'Moscow Mule',
      'Whisky Cola',
      'Aperol Spritz',
      'Weißweinschorle',
      'Apfelschorle',
    ],
    isReturnedBy: 'price',
  },
  voucher: null,
  notes: ['ohne Eis', 'mit Gurke', 'scharf', 'ohne Zwiebeln', 'vegan', 'extra Limette'],
}
