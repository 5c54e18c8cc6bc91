#!/bin/sh
# The firmware of the lab's cards, as mstconfig, mstreg and mstfwreset (by the name it is called) show it: what a card keeps in
# its flash, what it runs with since its last reset, and one access register. Each PCI function is a card of its own.
#   mstconfig -d BDF -e q | -d BDF -y set KEY=VALUE…      mstreg -d BDF --yes --reg_name ROCE_ACCL --get | --set A=1,B=0
#   mstfwreset -d BDF -y r: the flash comes into force, the register forgets
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
factory_flash='LLDP_NB_DCBX_P1=False(0) LLDP_NB_TX_MODE_P1=OFF(0) CNP_DSCP_P1=48 CNP_802P_PRIO_P1=6 ROCE_CC_PRIO_MASK_P1=255
               USER_PROGRAMMABLE_CC=False(0) PCI_WR_ORDERING=per_mkey(0)'
factory_register='roce_adp_retrans_field_select=1 roce_tx_window_field_select=1 roce_slow_restart_field_select=1
                  adaptive_routing_forced_en_field_select=0 roce_adp_retrans_en=0 roce_tx_window_en=1 roce_slow_restart_en=0
                  adaptive_routing_forced_en=0'
refuse() { echo "-E- $*" >&2; exit 1; }

bdf='' verb='' register='' data='' words=''
while [ $# -gt 0 ]; do
  case "$1" in
    -d) bdf=$2; shift ;;
    --reg_name) register=$2; shift ;;
    -e | -y | --yes) ;;
    --get) verb='get' ;;
    --set) verb='set' data=$2; shift ;;
    q | r | reset) verb=$1 ;;
    set) verb='set'; shift; words=$*; break ;;
    *) refuse "$1: not known to the lab's card" ;;
  esac
  shift
done
[ -e "/sys/bus/pci/devices/$bdf" ] || refuse "Failed to open device: \"$bdf\", No such file or directory"
flash=/run/rwlab-flash/$bdf
if [ ! -e "$flash/next" ]; then
  mkdir -p "$flash"
  for one in $factory_flash; do echo "$one"; done > "$flash/default"
  cp "$flash/default" "$flash/current"
  cp "$flash/default" "$flash/next"
  for one in $factory_register; do echo "$one"; done > "$flash/register"
fi

# value FILE KEY
value() { sed -n "s/^$2=//p" "$flash/$1"; }
# put FILE KEY VALUE: written beside it and renamed, since two may ask at once.
put() {
  sed "s/^$2=.*/$2=$3/" "$flash/$1" > "$flash/$1.$$"
  mv "$flash/$1.$$" "$flash/$1"
}
# A parameter of two values is printed as word and number.
printed() {
  case "$1$2" in
    False*1 | True*1) echo 'True(1)' ;;
    False*0 | True*0) echo 'False(0)' ;;
    *) echo "$2" ;;
  esac
}

case "${0##*/} $verb" in
  'mstconfig q')
    printf '\nDevice #1:\n----------\n\nDevice type:    ConnectX6DX\nName:           lab\nDescription:    no card\nDevice:         %s\n\n' "$bdf"
    printf '%-44s %-18s %-18s %s\n' Configurations: Default Current 'Next Boot'
    while IFS='=' read -r key word; do
      now=$(value current "$key") next=$(value next "$key") mark=' '
      [ "$now" = "$next" ] || mark='*'
      printf '%s        %-35s %-18s %-18s %s\n' "$mark" "$key" "$word" "$now" "$next"
    done < "$flash/default"
    ;;
  'mstconfig set')
    for word in $words; do
      key=${word%%=*}
      [ -n "$(value default "$key")" ] || refuse "Unknown Parameter: $key"
      put next "$key" "$(printed "$(value default "$key")" "${word#*=}")"
    done
    echo 'Applying... Done!'
    echo '-I- Please reboot machine to load new configurations.'
    ;;
  'mstfwreset r' | 'mstfwreset reset')
    cp "$flash/next" "$flash/current"
    for one in $factory_register; do echo "$one"; done > "$flash/register"
    ;;
  'mstreg get' | 'mstreg set')
    [ "$register" = ROCE_ACCL ] || refuse "Can't find access register name: $register"
    for word in $(echo "$data" | tr ',' ' '); do
      name=${word%%=*} number=$((${word#*=}))
      [ -n "$(value register "$name")" ] || refuse "Can't find field name: \"$name\""
      # What its select bit does not offer is not changed; the bits themselves are no state.
      case "$name" in *_select) continue ;; esac
      [ "$(value register "${name%_en}_field_select")" = 0 ] || [ "$(value register "${name}_field_select")" = 0 ] ||
        put register "$name" "$number"
    done
    printf 'Sending access register...\n\n%-45s | %s\n' 'Field Name' Data
    echo ============================================================
    while IFS='=' read -r name number; do printf '%-45s | 0x%08x\n' "$name" "$number"; done < "$flash/register"
    echo ============================================================
    ;;
  *) refuse "nothing to do" ;;
esac
